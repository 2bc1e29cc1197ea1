/// Reads the numbers of a scanned array one after the other.
struct NumberList {
    private let array: JSONToken
    private var offset: Int

    /// Begins before the first element.
    init(_ array: JSONToken) {
        self.array = array
        offset = array.range.lowerBound
    }

    /// The next element; nil if there is none or it is not a finite number.
    mutating func next(_ line: Span<UInt8>) -> Double? {
        guard let token = JSONObjectScanner.element(after: &offset, of: array, in: line), token.kind == .number else {
            return nil
        }
        let value = DecimalText.double(in: token.range, of: line)
        return value.isFinite ? value : nil
    }

    /// Whether all elements were read.
    func isAtEnd(_ line: Span<UInt8>) -> Bool { offset == array.range.upperBound - 1 }
}
