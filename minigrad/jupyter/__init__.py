"""What minigrad adds to notebooks: the cell magics %%expect and %%versus, and predictions."""
