/// A format of pictures that browsers show, by the first bytes of a file.
enum PictureFormat: String {
    case png, jpeg, gif, webp

    /// Recognizes the format of a picture; nil for another one.
    init?(of bytes: [UInt8]) {
        switch bytes {
        case _ where bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]): self = .png
        case _ where bytes.starts(with: [0xFF, 0xD8, 0xFF]): self = .jpeg
        case _ where bytes.starts(with: Array("GIF8".utf8)): self = .gif
        case _ where bytes.starts(with: Array("RIFF".utf8)) && bytes.dropFirst(8).starts(with: Array("WEBP".utf8)):
            self = .webp
        default: return nil
        }
    }

    /// The media type, such as `image/png`.
    var mediaType: String { "image/" + rawValue }
    /// The usual ending of a file's name.
    var ending: String { self == .jpeg ? "jpg" : rawValue }
}
