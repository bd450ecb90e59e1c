"""The intermediate representation: structured, typed SSA in which everything has text."""
