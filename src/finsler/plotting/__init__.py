"""Pictures of maps."""
