[(subject_pattern) (node_pattern) (record) (map) (array) (tagged_string)] @fold
