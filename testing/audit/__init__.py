"""``skips audit``: which entries of ``skips.py`` are still needed, by running what they skip.

`selection` says which entries, `planning` which cases each of them skips here; these run in
children and `journal` keeps what came. `verdicts` judges an entry, `narrowing` finds the
scope that would do. `auditing` puts it together, `record` stores it, `text` and `markdown` tell
it. `pruning` deletes what was stale; `inheriting` passes on the reasons to which others refer.
"""
