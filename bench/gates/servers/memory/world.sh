# A graph of three entities, which every run finds.
cat > memory.jsonl <<'END'
{"type":"entity","name":"Ada","entityType":"person","observations":["Writes programs","Lives in London"]}
{"type":"entity","name":"Engine","entityType":"machine","observations":["Adds numbers"]}
{"type":"entity","name":"London","entityType":"city","observations":[]}
{"type":"relation","from":"Ada","to":"Engine","relationType":"programs"}
{"type":"relation","from":"Ada","to":"London","relationType":"lives_in"}
END
