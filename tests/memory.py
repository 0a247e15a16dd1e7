"""The environment of a process whose memory is limited by a test."""

# Freed arrays go back to the system at once, so that the limit is on what is in use; and no thread has an arena or a
# buffer of its own, of which a machine with more cores would have more.
FRUGAL = {
    "MALLOC_MMAP_THRESHOLD_": "65536",
    "MALLOC_ARENA_MAX": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
}
