"""Why there is no tiny model of a class."""

from __future__ import annotations

__all__ = [
    "ConfigDefaultsError",
    "ImpossibleModelError",
    "MissingPackageError",
    "NoTinyModelError",
    "NotAModelClassError",
    "UnknownModelClassError",
]


class NoTinyModelError(Exception):
    """A tiny model of a class could not be made."""


class UnknownModelClassError(NoTinyModelError):
    """transformers has no class of this name; the message gives the nearest."""

    def __init__(self, name: str, nearest: list[str]) -> None:
        hint = f"; nearest: {', '.join(nearest)}" if nearest else ""
        super().__init__(f"transformers has no model class {name!r}{hint}")


class NotAModelClassError(NoTinyModelError):
    """transformers has the class, but no configuration makes a model of it."""

    def __init__(self, name: str, is_auto: bool) -> None:
        if is_auto:
            why = "stands for whichever class a configuration or checkpoint names; name that class"
        else:
            why = "has no config_class; name a class that has one, such as BertModel"
        super().__init__(f"{name} is no model class of transformers: it {why}")


class ConfigDefaultsError(NoTinyModelError):
    """A configuration class does not give a configuration when called without arguments."""

    def __init__(self, model_class: str, config_class: str, cause: Exception) -> None:
        super().__init__(
            f"{model_class}: {config_class}() has no usable defaults ({cause}); "
            "give the values that it lacks in testing/tiny/exceptions/"
        )


class MissingPackageError(NoTinyModelError):
    """A model needs packages that are not installed."""

    def __init__(self, model_class: str, packages: str) -> None:
        super().__init__(f"{model_class} needs packages that are not installed: {packages}")


class ImpossibleModelError(NoTinyModelError):
    """Nothing here can run a model of this class; the message says why."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"{name} cannot be run: {why}")
