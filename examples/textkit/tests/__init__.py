"""Tests of textkit."""
