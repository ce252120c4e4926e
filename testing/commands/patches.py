"""``export-harness patches``: the trace patches, and whether the models still need them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from exporters import BACKENDS, get_backend
from testing.commands.base import Status, UsageError, write, write_json
from testing.commands.run_options import add_guard, add_run_options, settings_of
from testing.commands.skips.arguments import add_audits

if TYPE_CHECKING:
    from testing.patches.auditing import PatchedModel, PatchRequest
    from testing.patches.inspecting import Inspection

__all__ = ["NAME", "SUMMARY", "add_arguments", "run"]

NAME = "patches"
SUMMARY = "List the trace patches and their models; --audit says which models still need them."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare which patches are meant, and whether and how they are audited."""
    parser.add_argument("patches", nargs="*", metavar="PATCH", help="default: all")
    parser.add_argument(
        "--audit", action="store_true", help="export each model without the patch, in children"
    )
    parser.add_argument("--markdown", action="store_true", help="as a pull request's comment")
    parser.add_argument(
        "--model", action="append", default=[], metavar="MODEL_CLASS", help="repeatable"
    )
    add_audits(parser)
    add_run_options(parser)
    add_guard(parser, default="off")


def run(options: argparse.Namespace) -> Status:
    """List or audit, and tell."""
    _require_known(options.patches)
    request = _request(options)
    return _audit(request, options) if options.audit else _list(request, options)


def _list(request: PatchRequest, options: argparse.Namespace) -> Status:
    from testing.patches import auditing, report

    found = list(auditing.chosen(request))
    if options.json:
        write_json({"patches": report.listed_json(found)})
    else:
        write(report.listed(found))
    return Status.WELL


def _audit(request: PatchRequest, options: argparse.Namespace) -> Status:
    from testing.audit.errors import AuditError
    from testing.execution import execute
    from testing.patches import auditing

    try:
        found = auditing.audit_patches(request, _inspect, execute)
    except AuditError as error:
        raise UsageError(str(error)) from error
    unused = auditing.unused(request, found)
    _tell(found, unused, options)
    has_findings = bool(unused) or any(one.is_finding for one in found)
    return Status.FINDINGS if has_findings else Status.WELL


def _tell(
    found: Sequence[PatchedModel], unused: Sequence[str], options: argparse.Namespace
) -> None:
    from testing.audit.journal import versions_here
    from testing.patches import markdown, report

    versions = versions_here()
    if options.json:
        models = report.audited_json(found)
        write_json({"versions": versions, "unused": unused, "models": models})
    elif options.markdown:
        write(markdown.comment(found, unused, options.repeat, versions))
    else:
        write(report.audited(found, unused))


def _inspect(
    backend: str, patch: str, model_class: str, runtime: str | None, limit: float
) -> Inspection:
    from testing.execution.runner import server_of
    from testing.isolation import Task
    from testing.patches.inspecting import TARGET, inspection_of

    payload = {"backend": backend, "patch": patch, "model_class": model_class}
    server = server_of(get_backend(backend), runtime)
    return inspection_of(server.run(Task(TARGET, payload, limit)))


def _request(options: argparse.Namespace) -> PatchRequest:
    from testing.patches.auditing import PatchRequest

    return PatchRequest(
        patches=tuple(options.patches),
        model_classes=tuple(options.model),
        shard=options.shard,
        settings=settings_of(options),
        directory=options.audits,
        workers=options.workers,
        is_fresh=options.fresh,
    )


def _require_known(names: list[str]) -> None:
    known = [name for backend in BACKENDS for name in get_backend(backend).patch_names()]
    for name in names:
        if name not in known:
            raise UsageError(f"no trace patch is called {name!a}; there are: {', '.join(known)}")
