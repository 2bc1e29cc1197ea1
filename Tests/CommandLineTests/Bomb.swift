import CLibArchive
import Foundation
import XCTest

/// Small files that cost much memory or time if they are read without limits.
struct Bomb {
    /// A folder that is removed after the test.
    let folder: String

    /// A venue's document: `fields` follow one map, and `map` stands within it.
    static func venue(map: String = "", _ fields: String = "\"beacons\": []") -> String {
        let map = map.isEmpty ? "" : ", " + map
        return """
            {"format": "indoor-localization-venue", "formatVersion": 1, "id": 1, "name": "Bomb", "version": 1,
            "maps": [{"id": 1, "name": "Ground", "level": 0, "widthMeters": 50, "heightMeters": 30\(map)}], \(fields)}
            """
    }

    static func list(_ element: String, _ count: Int) -> String {
        "[" + Array(repeating: element, count: count).joined(separator: ",") + "]"
    }

    /// A document with the given nesting depth.
    static func nested(_ depth: Int) -> String {
        String(repeating: "{\"a\":", count: depth) + "1" + String(repeating: "}", count: depth)
    }

    /// Writes a file with this content.
    func plain(_ name: String, _ text: String) throws -> String {
        let file = URL(filePath: folder + "/" + name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
        return file.path
    }

    /// Writes a sparse file of 4 GB, which needs no disk space.
    func sparse(_ name: String) throws -> String {
        let path = try plain(name, "")
        XCTAssertEqual(truncate(path, 4 << 30), 0)
        return path
    }

    /// Writes a zip with `venue.json`.
    func zip(_ name: String, _ text: String) throws -> String {
        try pack(name, entry: "venue.json", [text], archive_write_set_format_zip)
    }

    /// Writes a gzip file with all pieces, the second one repeated.
    func gzip(_ name: String, _ first: String, _ piece: String = "", times: Int = 0) throws -> String {
        try pack(name, entry: name, [first] + Array(repeating: piece, count: times)) { archive in
            archive_write_add_filter_gzip(archive)
            archive_write_set_options(archive, "gzip:compression-level=9")
            return archive_write_set_format_raw(archive)
        }
    }

    private func pack(
        _ name: String, entry: String, _ pieces: [String], _ format: (OpaquePointer) -> Int32
    ) throws -> String {
        let path = folder + "/" + name
        let archive = try XCTUnwrap(archive_write_new())
        defer { archive_write_free(archive) }
        XCTAssertEqual(format(archive), ARCHIVE_OK)
        archive_write_set_bytes_in_last_block(archive, 1)
        XCTAssertEqual(archive_write_open_filename(archive, path), ARCHIVE_OK)
        let header = try XCTUnwrap(archive_entry_new())
        defer { archive_entry_free(header) }
        archive_entry_set_pathname(header, entry)
        archive_entry_set_filetype(header, 0o100000)
        XCTAssertEqual(archive_write_header(archive, header), ARCHIVE_OK)
        for piece in pieces {
            let bytes = Array(piece.utf8)
            XCTAssertEqual(archive_write_data(archive, bytes, bytes.count), bytes.count)
        }
        XCTAssertEqual(archive_write_close(archive), ARCHIVE_OK)
        return path
    }
}
