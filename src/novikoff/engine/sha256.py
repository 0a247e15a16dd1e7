"""SHA-256 (FIPS 180-4) that can be handed on: its state is plain numbers, so that one machine goes on where another
has stopped. Who hashes in one place takes `hashlib`, which is quicker."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.jit import jit, part

BLOCK = 64


def _primes(count: int) -> list[int]:
    found: list[int] = []
    number = 2
    while len(found) < count:
        if all(number % prime for prime in found):
            found.append(number)
        number += 1
    return found


def _root_bits(number: int, degree: int) -> int:
    """The first 32 bits behind the point of a root, by bisection in whole numbers."""
    low, high, scaled = 0, number << 32, number << (32 * degree)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**degree <= scaled else (low, middle)
    return low & 0xFFFFFFFF


CONSTANTS = np.array([_root_bits(prime, 3) for prime in _primes(64)], dtype=np.uint32)
BEGINNING = np.array([_root_bits(prime, 2) for prime in _primes(8)], dtype=np.uint32)


@part
def turned(word, by):
    """A word of 32 bits, turned to the right."""
    return (word >> np.uint32(by)) | (word << np.uint32(32 - by))


@jit(work=lambda state, text, constants: 32 * text.size, allocates=True)
def compress(state, text, constants):
    """Take in whole blocks of 64 bytes."""
    words = np.empty(64, np.uint32)
    for start in range(0, text.size, 64):
        for i in range(16):
            at = start + 4 * i
            words[i] = (
                (np.uint32(text[at]) << np.uint32(24))
                | (np.uint32(text[at + 1]) << np.uint32(16))
                | (np.uint32(text[at + 2]) << np.uint32(8))
                | np.uint32(text[at + 3])
            )
        for i in range(16, 64):
            one, other = words[i - 15], words[i - 2]
            first = turned(one, 7) ^ turned(one, 18) ^ (one >> np.uint32(3))
            second = turned(other, 17) ^ turned(other, 19) ^ (other >> np.uint32(10))
            words[i] = words[i - 16] + first + words[i - 7] + second
        a, b, c, d = state[0], state[1], state[2], state[3]
        e, f, g, h = state[4], state[5], state[6], state[7]
        for i in range(64):
            chosen = (e & f) ^ (~e & g)
            mixed = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)
            one = np.uint32(h + mixed + chosen + constants[i] + words[i])
            most = (a & b) ^ (a & c) ^ (b & c)
            other = np.uint32((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + most)
            h, g, f, e = g, f, e, np.uint32(d + one)
            d, c, b, a = c, b, a, np.uint32(one + other)
        state[0] += a
        state[1] += b
        state[2] += c
        state[3] += d
        state[4] += e
        state[5] += f
        state[6] += g
        state[7] += h


class Sha256:
    """As `hashlib.sha256`, and it can be pickled.

    >>> import hashlib
    >>> digest = Sha256(b"one ")
    >>> digest.update(b"two")
    >>> digest.hexdigest() == hashlib.sha256(b"one two").hexdigest()
    True
    """

    def __init__(self, text: bytes = b"") -> None:
        self._state = BEGINNING.copy()
        self._rest = np.empty(0, dtype=np.uint8)
        self._length = 0
        self.update(text)

    def update(self, text: Any) -> None:
        """Take in bytes, or anything else that has a buffer."""
        more = np.frombuffer(text, dtype=np.uint8)
        self._length += more.size
        if self._rest.size + more.size < BLOCK:
            self._rest = np.concatenate([self._rest, more])
            return
        self._state = self._state.copy()  # what comes from another machine may be read-only
        if self._rest.size:
            missing = BLOCK - self._rest.size
            compress(self._state, np.concatenate([self._rest, more[:missing]]), CONSTANTS)
            more = more[missing:]
        whole = more.size - more.size % BLOCK
        compress(self._state, more[:whole], CONSTANTS)
        self._rest = more[whole:].copy()

    def hexdigest(self) -> str:
        """The digest of all so far."""
        zeros = -(self._rest.size + 9) % BLOCK
        end = bytes([0x80]) + bytes(zeros) + (8 * self._length).to_bytes(8, "big")
        state: NDArray[np.uint32] = self._state.copy()
        compress(state, np.concatenate([self._rest, np.frombuffer(end, dtype=np.uint8)]), CONSTANTS)
        return "".join(f"{word:08x}" for word in state.tolist())
