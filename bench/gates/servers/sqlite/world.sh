# A database of two tables.
python3 - <<'END'
import sqlite3
db = sqlite3.connect("shop.db")
db.executescript("""
CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL DEFAULT 0);
CREATE TABLE orders (id INTEGER PRIMARY KEY, product INTEGER, amount INTEGER);
INSERT INTO products (name, price) VALUES ('Lamp', 12.5), ('Chair', 40), ('Table', 99.9);
INSERT INTO orders (product, amount) VALUES (1, 2), (3, 1);
""")
db.commit()
END
