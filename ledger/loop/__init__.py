"""The loop around a log: experiments, measured, decided and logged, one after another (protocols.md 7)."""
