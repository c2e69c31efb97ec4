"""The command `dmr devices`."""

from __future__ import annotations

from dmr.cli.shared.console import Console
from dmr.common.command_line.console import aligned
from dmr.common.command_line.parser import Arguments


def run(arguments: Arguments, console: Console) -> int:
    """Lists the devices; with --warm, compiles their kernels."""
    from dmr import memory

    found, absence = memory.devices(), memory.gpu_absence()
    compiled: dict[str, list[str]] = {}
    if arguments.warm:
        for device in found:
            if device.usable:
                compiled[device.name] = memory.warm(device.name)
                modules = len(compiled[device.name])
                console.note(f"{device.name}: " + (f"{modules} modules ready" if modules else "nothing to compile"))
    if arguments.json:
        entries = [
            {
                "name": device.name,
                "description": device.description,
                "usable": device.usable,
                "reason": device.reason,
                "memory_bytes": device.memory_bytes,
                "threads": device.threads,
                **({"compiled": compiled.get(device.name, [])} if arguments.warm else {}),
            }
            for device in found
        ]
        console.emit_json({"devices": entries, "gpu_absence": absence})
        return 0
    rows = [["device", "", "memory", "usable"]]
    for device in found:
        memory_text = f"{device.memory_bytes / 2**30:.1f} GiB" if device.memory_bytes else "-"
        usable = "yes" if device.usable else f"no: {' '.join((device.reason or 'unknown').split())}"
        rows.append([device.name, device.description, memory_text, usable])
    if len(found) == 1 and absence is not None:
        rows.append(["cuda", "", "-", f"no: {' '.join(absence.split())}"])
    for line in aligned(rows, left=(0, 1, 3), indent=""):
        console.emit(line)
    return 0
