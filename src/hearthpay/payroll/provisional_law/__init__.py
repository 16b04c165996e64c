"""Pay dates that lie ahead under rules that are not final: how many there are, and how operators learn of them."""
