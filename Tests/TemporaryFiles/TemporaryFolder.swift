import CLibArchive
import FoundationEssentials
import XCTest

extension XCTestCase {
    /// A new empty folder that is removed after the test.
    package func temporaryFolder() throws -> String {
        let path = FileManager.default.temporaryDirectory.path + "/venue-packets-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        addTeardownBlock { try? FileManager.default.removeItem(atPath: path) }
        return path
    }

    /// Writes files below a folder, by their relative paths.
    package func write(_ files: [String: String], to folder: String) throws {
        for (name, text) in files {
            let file = URL(filePath: folder + "/" + name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
    }
}

extension XCTestCase {
    /// Writes a zip with these entries, whatever their names are.
    package func makeZip(_ entries: [(name: String, text: String)]) throws -> String {
        let path = try temporaryFolder() + "/packet.zip"
        let archive = try XCTUnwrap(archive_write_new())
        defer { archive_write_free(archive) }
        let locale = clibarchive_enter_utf8()
        defer { clibarchive_leave_utf8(locale) }
        archive_write_set_format_zip(archive)
        archive_write_set_options(archive, "zip:hdrcharset=UTF-8")
        XCTAssertEqual(archive_write_open_filename(archive, path), ARCHIVE_OK)
        for (name, text) in entries {
            let entry = try XCTUnwrap(archive_entry_new())
            defer { archive_entry_free(entry) }
            let bytes = Array(text.utf8)
            archive_entry_set_pathname_utf8(entry, name)
            archive_entry_set_size(entry, la_int64_t(bytes.count))
            archive_entry_set_filetype(entry, 0o100000)
            XCTAssertEqual(archive_write_header(archive, entry), ARCHIVE_OK)
            XCTAssertEqual(archive_write_data(archive, bytes, bytes.count), bytes.count)
        }
        XCTAssertEqual(archive_write_close(archive), ARCHIVE_OK)
        return path
    }
}
