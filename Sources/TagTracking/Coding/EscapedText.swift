/// Text in which some bytes are written as a mark and two hexadecimal digits.
enum EscapedText {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Returns the text with every byte of its UTF-8 escaped, except ASCII letters, ASCII digits and the characters in
    /// `plain`.
    static func escaped(_ text: String, mark: UInt8, plain: String) -> String {
        var escaped: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                escaped.append(byte)
            case _ where plain.utf8.contains(byte): escaped.append(byte)
            default: escaped += [mark, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }
}
