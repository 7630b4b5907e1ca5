"""Work in processes that outlive their worker."""
