"""Question to logical query to SQL: the offline parser, the predictive writer."""
