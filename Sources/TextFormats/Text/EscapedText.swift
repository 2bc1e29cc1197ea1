/// Text in which some bytes are written as a mark and two hexadecimal digits.
package enum EscapedText {
    /// Returns the text with every byte of its UTF-8 escaped, except ASCII letters, ASCII digits and the characters in
    /// `plain`.
    package static func escaped(_ text: String, mark: UInt8, plain: String, uppercase: Bool = true) -> String {
        var escaped: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                escaped.append(byte)
            case _ where plain.utf8.contains(byte): escaped.append(byte)
            default:
                escaped.append(mark)
                HexDigits.append(byte, to: &escaped, uppercase: uppercase)
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }

    /// Returns the bytes of a text, with each mark and its two digits replaced by their byte; nil if two digits don't
    /// follow a mark.
    package static func unescaped(_ text: some Sequence<UInt8>, mark: UInt8) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text.makeIterator()
        while let byte = rest.next() {
            guard byte == mark else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.next().flatMap({ HexDigits.value(of: $0) }),
                let low = rest.next().flatMap({ HexDigits.value(of: $0) })
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }
}
