import CLiveMapPage
import TextFormats

/// The files of the page that shows a live map.
package enum LiveMapPage: Sendable {
    /// A file of the page.
    package struct File: Hashable, Sendable {
        /// The name below the page's folder, such as "main.js".
        package let name: String
        /// The content of the file.
        package let bytes: [UInt8]
        /// The media type, such as `text/css; charset=utf-8`.
        package let mediaType: String
        /// The entity tag with its quotation marks: a part of the SHA-256 digest of the bytes.
        package let etag: String

        init(name: String, bytes: [UInt8]) {
            self.name = name
            self.bytes = bytes
            mediaType = LiveMapPage.mediaType(of: name)
            etag = "\"" + HexDigits.text(of: SHA256.digest(of: bytes).prefix(12), uppercase: false) + "\""
        }
    }

    /// All files, in order of their names. The first page is "index.html".
    package static let files: [File] = (0..<live_map_file_count()).map { index in
        let file = live_map_file_at(index)
        return File(
            name: String(cString: file.name), bytes: Array(UnsafeBufferPointer(start: file.bytes, count: file.count)))
    }

    /// Returns a file of the page; nil if there is none with this name.
    package static func file(named name: String) -> File? {
        files.first { $0.name == name }
    }

    private static func mediaType(of name: String) -> String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "json": "application/json"
        default: "application/octet-stream"
        }
    }
}
