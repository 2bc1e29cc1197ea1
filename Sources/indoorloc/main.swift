print("indoorloc")
