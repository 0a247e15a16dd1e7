"""The hot loop that parses svmlight text: whole lines of bytes in, labels and CSR entries out.

A line is `label [qid:number] index:value index:value ... [# comment]`. Everything is checked; an error is returned as a
code and a place, from which `data/svmlight.py` makes a message with file and line.

*The numbers* are those that Python's `float` returns, bit for bit. Up to 19 digits make a 64-bit integer w, the point
and the exponent a power q, and the number is w 10^q, rounded to the nearest float64: the upper bits of w times the
leading 128 bits of 5^q are the mantissa (D. Lemire, "Number parsing at a gigabyte per second", 2021; N. Mushtak and
D. Lemire, "Fast number parsing without fallback", 2023, prove that this always decides). A number of more than 19
digits is deferred: its place is noted, and `float` itself parses it.

*A place* in the text is a memory address.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import extending, types
from numpy.typing import NDArray

from novikoff.engine.jit import jit, part

intrinsic: Any = extending.intrinsic  # its functions are called without the typing context that they are declared with

# The result for a number or a line; from BAD_LABEL on, an error.
FINE, WAITS, MALFORMED, BAD_LABEL, BAD_QUERY, BAD_PAIR, NOT_ASCENDING = range(7)


class Lines(NamedTuple):
    """Where `parse` puts the rows. It does not check the size of the arrays: see `room_for`.

    `waiting` has the first byte, the byte after the last, and the slot of every label or pair whose number has to wait
    for `float`: the slot is its entry, or -1 - row for a label.
    """

    labels: NDArray[np.float64]
    indptr: NDArray[np.uint32]
    indices: NDArray[np.uint32]
    data: NDArray[np.float64]
    waiting: NDArray[np.int64]


class Parsed(NamedTuple):
    """What `parse` found: how many lines, rows and entries, how many numbers wait for `float`, the line of the first
    row, and what was wrong at which byte. Lines count from 0."""

    lines: int
    rows: int
    entries: int
    waiting: int
    first: int
    error: int
    place: int


def room_for(n_bytes: int) -> Lines:
    """Return arrays large enough for any text of this many bytes.

    A row takes two bytes at least, a pair with the blank before it four, a number that waits twenty. The unused part is
    never touched, and costs addresses, not memory.
    """
    return Lines(
        np.empty(n_bytes // 2 + 1),
        np.empty(n_bytes // 2 + 2, dtype=np.uint32),
        np.empty(n_bytes // 4 + 1, dtype=np.uint32),
        np.empty(n_bytes // 4 + 1),
        np.empty((n_bytes // 20 + 1, 3), dtype=np.int64),
    )


# -- bytes ------------------------------------------------------------------------------------------------------------

TAB, NEWLINE, RETURN, BLANK, COMMENT, PLUS, MINUS, POINT, ZERO, NINE, COLON = b"\t\n\r #+-.09:"
SMALL_E, SMALL_Q, SMALL_I, SMALL_D = b"eqid"
LOWER_CASE = 0x20

TEN = np.uint64(10)
NOTHING = np.uint64(0)
MOST_DIGITS = 19  # whatever they are, the number is below 2^64


def _too_much_for_python(*_: Any) -> float:
    """Python has no access to addresses and words."""
    return math.inf


@intrinsic
def byte(typing_context: Any, at: Any) -> Any:
    """Return the byte at an address."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        loaded = builder.load(builder.inttoptr(arguments[0], ir.IntType(8).as_pointer()))
        return builder.zext(loaded, ir.IntType(64))

    return types.int64(types.int64), codegen


@intrinsic
def leading_zeros(typing_context: Any, number: Any) -> Any:
    """Return how many zeros the 64-bit number begins with."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], ir.IntType(1)(0))

    return types.int64(types.uint64), codegen


@intrinsic
def upper_product(typing_context: Any, a: Any, b: Any) -> Any:
    """Return the upper 64 of the 128 bits of a b."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(builder.zext(arguments[0], wide), builder.zext(arguments[1], wide))
        return builder.trunc(builder.lshr(product, wide(64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), codegen


@intrinsic
def float_of_bits(typing_context: Any, bits: Any) -> Any:
    """Return the float64 with these 64 bits."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.uint64), codegen


@part(forceinline=True)
def read_digits(at: int, w: Any) -> Any:
    """Append the digits from `at` on to w; return it and where they end. Beyond 19 digits it is meaningless."""
    while True:
        digit = byte(at) - ZERO
        if digit < 0 or digit > 9:
            return w, at
        w = w * TEN + np.uint64(digit)
        at += 1


# -- numbers ----------------------------------------------------------------------------------------------------------

# 10^q is 5^q 2^q, and the power of two only moves the exponent. So one table of 5^q suffices, each scaled by a power of
# two such that it fills 128 bits: from Python's integers, in about a millisecond.

# w 10^q with 0 < w < 2^64 rounds to zero for every q below the first, and is infinite for every q above the second.
SMALLEST_POWER, LARGEST_POWER = -342, 308

# Up to here 5^-q is below 2^64, so that w 5^q may be a whole number.
SMALLEST_EXACT_QUOTIENT = -27


def _leading_128_bits_of_five_to(q: int) -> int:
    """Return 5^q scaled into [2^127, 2^128), rounded down; up where w 5^q may be whole, so that it is not too small."""
    if q >= 0:
        power = 5**q
        excess = power.bit_length() - 128
        return power >> excess if excess > 0 else power << -excess
    power = 5**-q
    quotient = (1 << (power.bit_length() + 127)) // power
    return quotient + (q >= SMALLEST_EXACT_QUOTIENT)


def powers_of_five() -> NDArray[np.uint64]:
    """Return a table whose row q - SMALLEST_POWER has the upper and the lower 64 bits of the scaled 5^q.

    >>> upper, lower = powers_of_five()[1 - SMALLEST_POWER]
    >>> hex(upper), hex(lower)  # 5 is 101 in binary
    ('0xa000000000000000', '0x0')
    """
    scaled = [_leading_128_bits_of_five_to(q) for q in range(SMALLEST_POWER, LARGEST_POWER + 1)]
    return np.array([divmod(power, 1 << 64) for power in scaled], dtype=np.uint64)


FIVES = powers_of_five()
ONE, THREE = np.uint64(1), np.uint64(3)
BELOW_MANTISSA = np.uint64(2**9 - 1)  # the bits below 53 of the mantissa, one for rounding, and a leading zero
HIDDEN_BIT = np.uint64(2**52)
INFINITY = np.uint64(0x7FF0000000000000)
LARGEST_EXPONENT = 2**40  # larger ones are cut off to this: no text has so many digits that it would matter


@jit(work=_too_much_for_python)
def nearest(w: Any, q: int) -> float:
    """Return the float64 nearest to w 10^q, ties to even; infinity where it overflows."""
    if w == NOTHING or q < SMALLEST_POWER:
        return 0.0
    if q > LARGEST_POWER:
        return np.inf
    power = np.uint64(q - SMALLEST_POWER)
    zeros = leading_zeros(w)
    w <<= zeros
    upper, lower = upper_product(w, FIVES[power, 0]), w * FIVES[power, 0]
    if upper & BELOW_MANTISSA == BELOW_MANTISSA:  # a carry from the lower half of 5^q could reach the mantissa
        carry = upper_product(w, FIVES[power, 1])
        lower += carry
        if lower < carry:
            upper += ONE

    top = np.int64(upper >> 63)
    mantissa = upper >> (top + 9)
    exponent = 1023 + 63 + ((217706 * q) >> 16) + top - zeros  # 217706 / 2^16 is log2(10), near enough for these q
    if exponent <= 0:
        mantissa >>= min(1 - exponent, 63)
        return float_of_bits((mantissa + (mantissa & ONE)) >> 1)  # which may round up to the smallest normal number
    if lower <= ONE and -4 <= q <= 23 and mantissa & THREE == ONE and mantissa << (top + 9) == upper:
        mantissa -= ONE  # exactly halfway, which happens at these powers only: down to the even neighbour
    mantissa = (mantissa + (mantissa & ONE)) >> 1
    bits = mantissa - HIDDEN_BIT + (np.uint64(exponent) << 52)  # a mantissa rounded up to 2^53 carries over
    return float_of_bits(min(bits, INFINITY))


@part
def read_integer(at: int) -> Any:
    """Return a signed integer, clipped to +-LARGEST_EXPONENT, and where it ends: at its start if there is none."""
    sign = byte(at)
    first = at + (sign in (PLUS, MINUS))
    end, number = first, 0
    while ZERO <= byte(end) <= NINE:
        number = min(10 * number + byte(end) - ZERO, LARGEST_EXPONENT)
        end += 1
    return (-number if sign == MINUS else number), (end if end > first else at)


@part(forceinline=True)
def read_number(at: int) -> Any:
    """Return the number at `at`, where it ends, and whether it is fine, waits for `float`, or is malformed."""
    sign = byte(at)
    if sign in (PLUS, MINUS):
        at += 1
    w, end = read_digits(at, NOTHING)
    digits = end - at
    significant = 0 if w == NOTHING and digits <= MOST_DIGITS else digits  # beyond, w may have wrapped around to 0
    q = 0
    if byte(end) == POINT:
        first = end + 1
        w, end = read_digits(first, w)
        q = first - end
        digits -= q
        significant -= q
    if digits == 0:
        return 0.0, end, MALFORMED

    if byte(end) | LOWER_CASE == SMALL_E:
        first = end + 1
        exponent, end = read_integer(first)
        if end == first:
            return 0.0, end, MALFORMED
        q += exponent

    value, state = 0.0, FINE
    if significant > MOST_DIGITS:
        state = WAITS
    else:
        value = nearest(w, q)
    return (-value if sign == MINUS else value), end, state


# -- lines ------------------------------------------------------------------------------------------------------------

LARGEST_INDEX = np.uint64(2**32 - 1)


@part
def skip_blanks(at: int) -> int:
    while byte(at) == BLANK or byte(at) == TAB:
        at += 1
    return at


@part
def ends_line(at: int) -> bool:
    """Whether a comment or the end of the line is here."""
    return byte(at) == NEWLINE or byte(at) == COMMENT or (byte(at) == RETURN and byte(at + 1) == NEWLINE)


@part
def ends_number(at: int) -> bool:
    """Whether a number may end here. Any other control character is detected where the next pair should begin."""
    return byte(at) <= BLANK or byte(at) == COMMENT


@part
def skip_query(at: int) -> int:
    """Return the place after `qid:number`, or `at` itself if there is none."""
    if byte(at + 1) != SMALL_I or byte(at + 2) != SMALL_D or byte(at + 3) != COLON:
        return at
    _, end = read_integer(at + 4)
    return end if end > at + 4 and ends_number(end) else at


@part(forceinline=True)
def read_label(at: int) -> Any:
    """Return the label at `at`, where it ends, and whether it is fine, waits for `float`, or is bad."""
    label, end, state = read_number(at)
    if state == MALFORMED or not ends_number(end) or not np.isfinite(label):
        return label, end, BAD_LABEL
    return label, end, state


@part(forceinline=True)
def read_pair(at: int) -> Any:
    """Return the index and value at `at`, where they end, and whether they are fine, wait for `float`, or are bad."""
    index, colon = read_digits(at, NOTHING)
    if colon == at or colon - at > MOST_DIGITS or byte(colon) != COLON or index > LARGEST_INDEX:
        return 0, 0.0, at, BAD_PAIR
    value, end, state = read_number(colon + 1)
    if state == MALFORMED or not ends_number(end) or not np.isfinite(value):
        return 0, 0.0, at, BAD_PAIR
    return np.int64(index), value, end, state


@part
def note(waiting: Any, number: int, start: int, end: int, slot: int) -> int:
    waiting[number, 0] = start
    waiting[number, 1] = end
    waiting[number, 2] = slot
    return number + 1


@jit(work=_too_much_for_python)
def parse(text: Any, start: int, stop: int, into: Any) -> Any:
    """Parse text[start:stop], which are whole lines, the last with its newline, up to the first error.

    The line with the error is not among the rows, but its numbers may be in `waiting`.
    """
    base = text.ctypes.data
    at, stop = base + start, base + stop
    lines = rows = entries = waiting = first = 0
    into.indptr[0] = 0
    while at < stop:
        at = skip_blanks(at)
        if not ends_line(at):
            label, end, state = read_label(at)
            if state > WAITS:
                return Parsed(lines, rows, entries, waiting, first, state, at - base)
            if state == WAITS:
                waiting = note(into.waiting, waiting, at - base, end - base, -1 - rows)
            into.labels[np.uint64(rows)] = label
            at = skip_blanks(end)
            if byte(at) == SMALL_Q:
                end = skip_query(at)
                if end == at:
                    return Parsed(lines, rows, entries, waiting, first, BAD_QUERY, at - base)
                at = skip_blanks(end)

            entry, previous = entries, -1
            while not ends_line(at):
                index, value, end, state = read_pair(at)
                if state <= WAITS and index <= previous:
                    state = NOT_ASCENDING
                if state > WAITS:
                    return Parsed(lines, rows, entries, waiting, first, state, at - base)
                if state == WAITS:
                    waiting = note(into.waiting, waiting, at - base, end - base, entry)
                into.indices[np.uint64(entry)] = index
                into.data[np.uint64(entry)] = value
                entry, previous = entry + 1, index
                at = skip_blanks(end)

            if rows == 0:
                first = lines
            rows, entries = rows + 1, entry
            into.indptr[np.uint64(rows)] = entries
        while byte(at) != NEWLINE:
            at += 1
        at += 1
        lines += 1
    return Parsed(lines, rows, entries, waiting, first, FINE, at - base)
