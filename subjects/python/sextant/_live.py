"""Audits of what this program holds: forks of it are the subject's sessions, and the command judges them.

The program P forks A, A forks S, and A becomes the command. S holds the function as P left it and forks a session for each that the command asks for over
a socket; the sessions become the command's children, which it watches and ends as any worker's (subjects/fork_server.hpp). A segmentation fault is one of
a session's. Where forks do not survive, as JAX's and CUDA's, a session hands its streams back to P, whose threads answer.
"""

from __future__ import annotations

import functools
import json
import os
import signal
import socket
import tempfile
import threading
import traceback
import warnings
from pathlib import Path
from typing import Any, Callable, Iterator, Mapping, Sequence

import numpy as np

from ._command import SextantError, find_command, message_of, unseen_environment
from ._worker import worker
from .adapt import Subject
from .result import Call

PR_SET_PDEATHSIG = 1  # prctl(2)


def run(subject: Subject, arguments: Sequence[str], isolation: str) -> str:
    """What `sextant audit live:...` prints with these arguments.

    `isolation` is "fork" (a process for each session) or "none" (threads of this one). Raises SextantError with the command's line if it refuses, and
    KeyboardInterrupt if it was interrupted.
    """
    command = find_command()
    arrays = subject.arrays()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    streams, relayed = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    relay = _Relay(streams, arrays, subject) if isolation == "none" else None
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        with warnings.catch_warnings():
            _ignore_warnings_of_forks()
            child = os.fork()
        if child == 0:
            _ignore_warnings_of_forks()
            _become_command(command, arguments, ours, theirs, output.fileno(), errors.fileno(), lambda: _hold(subject, arrays, theirs, relayed, isolation))
        for end in (ours, theirs, relayed):
            end.close()
        try:
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        except BaseException:
            os.kill(child, signal.SIGINT)
            os.waitpid(child, 0)
            raise
        finally:
            streams.close()
            if relay is not None:
                relay.join()
        output.seek(0)
        errors.seek(0)
        printed, complaint = output.read().decode(), errors.read().decode(errors="replace")
    if status == 130:
        raise KeyboardInterrupt
    if status not in (0, 1, 3, 4) or not printed:
        raise SextantError(message_of(complaint) or f"the command ended with status {status}")
    return printed


def _ignore_warnings_of_forks() -> None:
    """Python and JAX warn of forks of programs with threads. A child of ours uses what survives one: it becomes the command, or it calls the subject as the
    caller chose.
    """
    warnings.filterwarnings("ignore", message=r".*\bfork\(\)")


def _become_command(
    command: str, arguments: Sequence[str], ours: socket.socket, theirs: socket.socket, output: int, errors: int, hold: Callable[[], None]
) -> None:
    """In the child: forks the process that holds the subject, and is the command from then on. Never returns."""
    try:
        parent = os.getpid()
        if os.fork() == 0:
            ours.close()
            for number in (output, errors):
                os.close(number)
            _prepare_holder(parent)
            hold()
            os._exit(1)
        theirs.close()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(errors, 2)
        os.set_inheritable(ours.fileno(), True)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores, and a program inherits
            signal.signal(number, signal.SIG_DFL)
        os.execve(command, ["sextant", "audit", f"live:{ours.fileno()}", *arguments], unseen_environment())
    except BaseException as error:
        os.write(2, f"sextant: {command}: {error}\n".encode())
    finally:
        os._exit(2)


def _prepare_holder(parent: int) -> None:
    """Makes a fork of a program a process of its own manners: it ends with its parent, and handles no signal as the program did."""
    import ctypes

    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command is interrupted, and ends its sessions
    import faulthandler

    faulthandler.disable()  # its copy of the program's standard error is no part of the audit
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)


def _hold(subject: Subject, arrays: Any, control: socket.socket, relayed: socket.socket, isolation: str) -> None:
    """In the process that holds the subject. Does not return."""
    if isolation == "none":
        _relay_sessions(control, relayed)
    relayed.close()
    if subject.framework == "torch":
        # Threads of OpenMP do not survive a fork: a parallel region in a child would wait for them for ever.
        arrays.torch.set_num_threads(1)
    worker.serve_forks(control, arrays, subject.functions, subject.name, subject.version, subject.in_place, subject.threads)


def _relay_sessions(control: socket.socket, relayed: socket.socket) -> None:
    """Forks sessions that hand their streams to the program that holds the subject, and end when it has done with them."""
    worker.fork_for_each(control)
    done, hold = os.pipe()
    socket.send_fds(relayed, [b"s"], [0, 1, hold])
    relayed.close()
    for number in (0, 1, hold):
        os.close(number)
    os.read(done, 1)
    os._exit(0)


class _Relay:
    """Answers the sessions that come over a socket, each in a thread of its own, until nobody is left who sends any. Their calls come one after the other
    unless the subject says that several threads may call it at once.
    """

    def __init__(self, streams: socket.socket, arrays: Any, subject: Subject) -> None:
        self._streams, self._arrays, self._subject = streams.dup(), arrays, subject
        self._functions = subject.functions if subject.threads else _one_at_a_time(subject.functions)
        self._thread = threading.Thread(target=self._accept, name="sextant", daemon=True)
        self._thread.start()

    def join(self) -> None:
        self._thread.join()

    def _accept(self) -> None:
        with self._streams:
            while True:
                message, ends, _, _ = socket.recv_fds(self._streams, 16, 3)
                if not message:
                    return
                threading.Thread(target=self._serve, args=ends, name="sextant session", daemon=True).start()

    def _serve(self, source: int, sink: int, hold: int) -> None:
        subject = self._subject
        try:
            with os.fdopen(source, "rb") as requests, os.fdopen(sink, "wb") as replies:
                said = subject.name, subject.version, subject.in_place, subject.threads
                worker.answer_requests(requests, replies, self._arrays, self._functions, *said, copy=worker.copied)
        except Exception:
            traceback.print_exc()
        finally:
            os.close(hold)


def _one_at_a_time(functions: Mapping[str, Callable[..., Any]]) -> Mapping[str, Callable[..., Any]]:
    """The same functions, of which no two run at once."""
    lock = threading.Lock()

    def alone(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*arguments: Any, **named: Any) -> Any:
            with lock:
                return function(*arguments, **named)

        return call

    return {name: alone(function) for name, function in functions.items()}


def recording(subject: Subject, folder: Path) -> Mapping[str, Callable[..., Any]]:
    """The subject's functions, which also write each call of theirs into a file of the folder."""
    arrays = subject.arrays()
    taken = iter(range(1 << 30))

    def recorded(operation: str, function: Callable[..., Any]) -> Callable[..., Any]:
        names = worker.ARGUMENTS.get(operation)
        if names is None:
            return function

        def call(*arguments: Any, **named: Any) -> Any:
            rest = ["weight"] if len(arguments) > len(names) + 1 else []
            inputs = {key: np.array(arrays.take(value)) for key, value in {**dict(zip([*names, *rest], arguments)), **named}.items()}
            number = next(taken)
            _write(folder / f"{number:06}-{os.getpid()}", operation, inputs, {})
            result = function(*arguments, **named)
            written = [arguments[names.index(key)] for key in worker.WRITTEN_IN_PLACE.get(operation, ()) if subject.in_place]
            output = result if result is not None or not written else written if len(written) > 1 else written[0]
            results = worker.SEVERAL_RESULTS.get(operation) or [worker.RESULTS.get(operation)]
            if output is not None and None not in results:
                outputs = zip(results, worker._results(operation, results, output))
                _write(folder / f"{number:06}-{os.getpid()}", operation, inputs, {key: arrays.take(value) for key, value in outputs})
            return result

        return call

    return {key: recorded(key, function) for key, function in subject.functions.items()}


def _write(path: Path, operation: str, inputs: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray]) -> None:
    dtypes: dict[str, str] = {}
    tensors: dict[str, Any] = {}
    for kind, arrays in (("inputs", inputs), ("outputs", outputs)):
        for key, array in arrays.items():
            dtypes[f"{kind}/{key}"] = str(array.dtype)
            # NumPy has no name for bfloat16, which comes back by its bits.
            tensors[f"{kind}/{key}"] = array.view(np.uint16) if str(array.dtype) == "bfloat16" else array
    with open(f"{path}.new", "wb") as file:
        np.savez(file, __of__=np.array(json.dumps({"operation": operation, "dtypes": dtypes})), **tensors)
    os.replace(f"{path}.new", f"{path}.npz")


def recorded_calls(folder: Path) -> Iterator[Call]:
    """The calls that were written into a folder, each process' in their order."""
    for path in sorted(folder.glob("*.npz")):
        with np.load(path) as file:
            said = json.loads(str(file["__of__"]))
            halves: dict[str, dict[str, np.ndarray]] = {"inputs": {}, "outputs": {}}
            for key in file.files:
                if key == "__of__":
                    continue
                kind, name = key.split("/", 1)
                array = file[key]
                halves[kind][name] = array.view(worker.BFLOAT16) if said["dtypes"][key] == "bfloat16" else array
        yield Call(said["operation"], halves["inputs"], halves["outputs"])
