"""The providers' wire formats, written out from their public descriptions: one module per operation."""
