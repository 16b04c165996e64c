"""The pages on which people keep their own account, and owners their organization."""
