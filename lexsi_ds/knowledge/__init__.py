"""Knowledge: the semantic model, the business knowledge graph, the value index."""
