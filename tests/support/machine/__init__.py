"""The random caller: a Hypothesis state machine, its rules by topic."""
