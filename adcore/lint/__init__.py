"""The lint step: the engine's findings, rendered for people and for programs."""
