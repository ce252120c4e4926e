"""A double of a backend: 200 cases, of which 40 end the process in every way that is known.

It runs as a pytest session of its own, from the repository's root::

    FAULTS_DIR=/tmp/faults python -m pytest tests/testing/faults_backend/cases.py \
        -p tests.testing.faults_backend.backend --backend faults --slow \
        --lowering-guard off --case-memory 1G --results /tmp/faults/results

`plan.OPTIONS` has these arguments. ``FAULTS_DIR`` is a directory that exists: there the export of
each case leaves its class's name in a file, `plan.runs` reads it, and what dies only the first
time remembers that it has. `plan.CASES` says of every class how it has to end. `plan.run_session`
starts such a session and does not wait for it.
"""
