"""Explanations: SHAP values, importance, similar cases, wording."""
