"""Hares and lynxes: a predator-prey model fitted to the pelt counts of the Hudson's Bay Company."""
