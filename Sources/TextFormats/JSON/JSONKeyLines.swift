/// Finds the line of each value in a JSON document, which `JSONTree` doesn't store.
///
/// The bytes must be valid JSON within the limits; in other bytes, some or all lines are not found.
package struct JSONKeyLines {
    /// A value other than an object, and its location.
    package struct Leaf: Hashable {
        /// The keys on the path to the value.
        package var keys: [String]
        /// The line of its key, starting at 1.
        package var line: Int

        /// Creates a location.
        package init(keys: [String], line: Int) { (self.keys, self.line) = (keys, line) }
    }

    /// The values in the order of the document, including duplicates. An array is one value.
    package private(set) var leaves: [Leaf] = []

    private let bytes: [UInt8]
    private let limit: Int
    private var reader: JSONReader
    private var line = 1
    /// The offset up to which the lines are counted.
    private var counted = 0

    /// - Parameter limit: the largest number of values to find.
    package init(_ bytes: [UInt8], limits: JSONLimits, limit: Int) {
        self.bytes = bytes
        self.limit = limit
        reader = JSONReader(bytes, limits: limits)
        try? readObject([])
    }

    private mutating func readObject(_ keys: [String]) throws(JSONSyntaxError) {
        try reader.enterObject()
        while leaves.count < limit, let key = try reader.nextKey() {
            line += bytes[counted..<key.range.lowerBound].count { $0 == UInt8(ascii: "\n") }
            counted = key.range.lowerBound
            let path = keys + [try reader.text(of: key)]
            if try reader.kind() == .object {
                try readObject(path)
            } else {
                leaves.append(Leaf(keys: path, line: line))
                try reader.skipValue()
            }
        }
    }
}
