"""A hash that can be handed on is the hash."""

import hashlib
import pickle

from hypothesis import given
from hypothesis import strategies as st

from novikoff.engine.sha256 import Sha256


@given(st.lists(st.binary(max_size=200), max_size=6))
def test_whatever_the_pieces_and_wherever_it_is_handed_on_it_is_sha256(pieces):
    ours, theirs = Sha256(), hashlib.sha256()
    for piece in pieces:
        ours = pickle.loads(pickle.dumps(ours))
        ours.update(piece)
        theirs.update(piece)
        assert ours.hexdigest() == theirs.hexdigest()
