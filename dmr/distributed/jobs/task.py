"""A task: a function, its inputs and its options, under a name that is a digest of all of these."""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from dmr._version import __version__
from dmr.distributed.jobs.folder import Folder
from dmr.errors import OptionError

# The version of what lies in outputs: it changes between releases, too, so that no run takes those of another version.
OUTPUTS = 6
DIGEST_DIGITS = 24  # of 4 bits each; a job has far fewer than 2^48 tasks


@dataclass(frozen=True)
class Resources:
    """Resources of a task, chosen by the worker that runs it; no result depends on them.

    Attributes:
        device: "cpu", "cuda:0", ..., as `device` of `dmr.refine`; threads: CPU threads, None for all.
    """

    device: str = "auto"
    threads: int | None = None


# Called with the folders of the inputs, the folder for the output, and the options by name. Returns a summary: small,
# plain JSON values. A function with two outputs gets a folder for each, and yields a summary when one is complete, in
# order; if it ends before, there is no second output. What follows the last one runs when the output is in its place.
TaskFunction = Callable[..., Mapping[str, Any] | Iterable[Mapping[str, Any]]]


@dataclass(frozen=True)
class Task:
    """A call `function(inputs, out, resources, **options)`, which any process can make.

    Attributes:
        function: where the function is defined: "module:name".
        inputs: the names of outputs of earlier tasks, or of stored arrays (`Store.put`).
        options: plain JSON values.
        version: of this package, where the task was made.
        consumed: those of the inputs that no other task reads: their arrays are removed when the task is done. They
            are not part of the name.
        light: whether it is only for workers that have nothing else to do, and is otherwise left out, unless all tasks
            that a runner gets are light; not part of the name.
        then: the task whose output is the second one of the function. It is called only if the process of this task
            has ended before that output was complete. Not part of the name.
        needs: those tasks of whose outputs some are inputs, but may not be complete when this one begins; not part of
            the name.
    """

    function: str
    inputs: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    version: str = __version__
    consumed: tuple[str, ...] = ()
    light: bool = False
    then: Task | None = None
    needs: tuple[Task, ...] = ()

    @classmethod
    def of(cls, function: TaskFunction, inputs: Sequence[str] = (), **options: Any) -> Task:
        """Makes the task of a function at the top level of a module."""
        return cls(f"{function.__module__}:{function.__qualname__}", tuple(inputs), options)

    @cached_property
    def name(self) -> str:
        """The function's name, and a digest of the function, inputs, options and version."""
        function = self.function.rpartition(":")[2]
        return f"{function}-{digest([OUTPUTS, self.version, self.function, self.inputs, self.options])}"

    def call(
        self, inputs: Sequence[Folder], outputs: Sequence[Folder], resources: Resources
    ) -> Iterator[dict[str, Any]]:
        """Calls the function.

        Args:
            inputs: the folders of `inputs`; outputs: an empty folder per output; resources: what the function may use.

        Returns:
            A summary when an output is complete, as it is after writing and reading it as JSON.

        Raises:
            OptionError: this process has another version of the package. Whatever the function raises.
        """
        if self.version != __version__:
            raise OptionError(
                f"a worker has dmr {__version__}, but the task comes from dmr {self.version}: "
                "install the same version everywhere"
            )
        module, _, name = self.function.partition(":")
        function: TaskFunction = getattr(importlib.import_module(module), name)
        found = function(inputs, *outputs, resources, **self.options)
        return (json.loads(json.dumps(summary)) for summary in ([found] if isinstance(found, Mapping) else found))


def digest(values: Any) -> str:
    """Returns a digest of plain JSON values."""
    text = json.dumps(values, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_DIGITS]
