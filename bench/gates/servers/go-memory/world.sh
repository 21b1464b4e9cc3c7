# A graph of three entities, as the server stores it.
cat > memory.json <<'END'
[{"type":"entity","name":"Ada","entityType":"person","observations":["Writes programs","Lives in London"]},
{"type":"entity","name":"Engine","entityType":"machine","observations":["Adds numbers"]},
{"type":"entity","name":"London","entityType":"city"},
{"type":"relation","from":"Ada","to":"Engine","relationType":"programs"},
{"type":"relation","from":"Ada","to":"London","relationType":"lives_in"}]
END
