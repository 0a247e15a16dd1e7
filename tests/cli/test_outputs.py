"""What panels say of the files that commands write."""

import pytest

from novikoff.cli.outputs import size_in_words


@pytest.mark.parametrize(
    ("size", "words"), [(1, "1 kB"), (5_719, "6 kB"), (5_734, "6 kB"), (19_800, "20 kB"), (1_234_567, "1,235 kB")]
)
def test_a_size_does_not_show_the_last_digits_of_numbers(tmp_path, size, words):
    (tmp_path / "model").write_bytes(bytes(size))
    assert size_in_words(tmp_path / "model") == words
