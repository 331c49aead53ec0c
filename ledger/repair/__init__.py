"""Repairs: what fixes a finding, how fixes become a plan, and how a plan is carried out and taken back."""
