import CLiveMapPage

/// The files of the page, which are part of the program.
enum PageFiles {
    struct File: Sendable {
        let bytes: [UInt8]
        let mediaType: String
        let tag: String
    }

    /// The name of the document that describes the interface of the server.
    static let description = "openapi.json"

    /// The files by their names.
    static let all: [String: File] = {
        var files: [String: File] = [:]
        for index in 0..<live_map_file_count() {
            let file = live_map_file_at(index)
            let (name, bytes) = (
                String(cString: file.name), Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
            )
            files[name] = File(bytes: bytes, mediaType: mediaType(of: name), tag: HTTPResponse.tag(of: bytes))
        }
        return files
    }()

    private static func mediaType(of name: String) -> String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "json": "application/json"
        case "svg": "image/svg+xml"
        case "png": "image/png"
        case "webmanifest": "application/manifest+json"
        default: "application/octet-stream"
        }
    }
}
