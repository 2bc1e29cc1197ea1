/// The numbers of a scanned array, read one at a time.
struct NumberList {
    private let array: JSONToken
    private var offset: Int

    /// Creates a list that starts at the first element.
    init(_ array: JSONToken) {
        self.array = array
        offset = array.range.lowerBound
    }

    /// Returns the next element; nil if there is none or it is not a finite number.
    mutating func next(_ line: Span<UInt8>) -> Double? {
        guard let token = JSONObjectScanner.element(after: &offset, of: array, in: line), token.kind == .number else {
            return nil
        }
        let value = DecimalText.double(in: token.range, of: line)
        return value.isFinite ? value : nil
    }

    /// Returns whether all elements have been read.
    func isAtEnd(_ line: Span<UInt8>) -> Bool { offset == array.range.upperBound - 1 }
}
