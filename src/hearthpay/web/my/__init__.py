"""What an employee sees and changes herself, of each household that she works for apart."""
