import Glibc
import IndoorPositioning
import IndoorVocabulary
import VenueModel
@testable import VenueExchange
@testable import VenuePackets

// Treats the bytes behind the first one, which selects the format, as a venue.json or as a radio map: decoding must not
// trap, a problem must state its place, and an accepted document must read back equal.

func fuzzVenue(_ input: [UInt8]) throws(Finding) {
    guard let first = input.first else { return }
    let bytes = Array(input.dropFirst())
    if first & 1 == 0 { try checkVenue(bytes) } else { try checkRadioMap(bytes) }
}

private func checkVenue(_ bytes: [UInt8]) throws(Finding) {
    let (venue, problems) = VenuePacketReader.parse(bytes)
    guard problems.allSatisfy({ !$0.path.isEmpty && !$0.message.isEmpty && !$0.description.isEmpty }) else {
        throw Finding("\(problems) does not state a place")
    }
    guard let venue, !problems.contains(where: { $0.severity == .error }) else { return }
    let again = VenuePacketReader.parse(VenueDocument.tree(venue, radioMapPath: nil).lines())
    guard again.venue == venue else { throw Finding("\(venue) does not read back equal: \(again)") }
    // The checks before a venue is used; they bound the time and the memory of all later steps.
    if let problem = ModelSize.problem(of: venue) ?? ModelSize.problem(of: venue.forTags) {
        if problem.message.isEmpty { throw Finding("a problem does not describe itself") }
        return
    }
    _ = VenuePacketReader.unreachedPlaces(of: venue)
    for map in venue.maps { _ = try? map.geoTransform() }
}

private func checkRadioMap(_ bytes: [UInt8]) throws(Finding) {
    switch Result(catching: { () throws(PacketFileError) in try RadioMapFile.read(bytes, named: "fuzz.json") }) {
    case .success(let radioMap):
        guard let written = try? RadioMapFile.bytes(of: radioMap, named: "fuzz.json"),
            let again = try? RadioMapFile.read(written, named: "fuzz.json"), again == radioMap
        else { throw Finding("\(radioMap) does not read back equal") }
    case .failure(let error):
        if error.path.isEmpty || error.message.isEmpty { throw Finding("\(error) does not state its place") }
    }
}

// Treats the bytes as a file of OpenStreetMap: decoding must not trap, an imported venue must satisfy the rules of a
// packet, and a problem must say what is wrong.

func fuzzOSM(_ bytes: [UInt8]) throws(Finding) {
    switch Result(catching: { () throws(OSMError) in try OSMImporter(language: "en").read(bytes, named: "fuzz") }) {
    case .success(let result):
        guard !result.venue.maps.isEmpty, !result.report.identities.isEmpty else { throw Finding("a venue has no map") }
        let document = VenueDocument.tree(result.venue, radioMapPath: nil).lines()
        let (venue, problems) = VenuePacketReader.parse(document)
        guard venue != nil, !problems.contains(where: { $0.severity == .error }) else {
            throw Finding("an imported venue does not satisfy the rules of a packet: \(problems)")
        }
    case .failure(let error):
        // A carriage return ends a line, too.
        let lines = bytes.count { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") } + 1
        guard !error.problems.isEmpty,
            error.problems.allSatisfy({ !$0.message.isEmpty && (1...lines).contains($0.line ?? 1) })
        else { throw Finding("\(error) does not state its place") }
    }
}

// Treats the bytes as a configuration of ESPresense-companion, in YAML: decoding must not trap, an imported venue must
// satisfy the rules of a packet, and a problem must state its place.

func fuzzCompanion(_ bytes: [UInt8]) throws(Finding) {
    let importer = CompanionImporter(name: "House")
    switch Result(catching: { () throws(CompanionError) in try importer.read(bytes, named: "fuzz") }) {
    case .success(let result):
        let document = VenueDocument.tree(result.venue, radioMapPath: nil).lines()
        let (venue, problems) = VenuePacketReader.parse(document)
        guard venue != nil, !problems.contains(where: { $0.severity == .error }), !result.venue.maps.isEmpty else {
            throw Finding("an imported house does not satisfy the rules of a packet: \(problems)")
        }
    case .failure(let error):
        guard !error.problems.isEmpty,
            error.problems.allSatisfy({ !$0.message.isEmpty && ($0.line ?? 1) > 0 && ($0.column ?? 1) > 0 })
        else { throw Finding("\(error) does not state its place") }
    }
}

// Treats the bytes behind the first one, which selects the format, as a zip, as data in the gzip format, or as the files
// of an IMDF archive: decoding must not trap, and what it returns must be within its limits.

func fuzzArchive(_ input: [UInt8]) throws(Finding) {
    guard let first = input.first else { return }
    let bytes = Array(input.dropFirst())
    switch first {
    case UInt8(ascii: "z"): try checkZip(bytes)
    case UInt8(ascii: "g"):
        let result = try? GzipData.decompressed(bytes, limit: 100_000)
        if let result, result.count > 100_000 { throw Finding("\(result.count) bytes does not obey the limit") }
    default: try checkIMDF(bytes)
    }
}

/// A file without a name; the system provides a path for its descriptor.
private let file = fileno(tmpfile())

private func checkZip(_ bytes: [UInt8]) throws(Finding) {
    guard ftruncate(file, 0) == 0, pwrite(file, bytes, bytes.count, 0) == bytes.count else { throw Finding("no file") }
    let path = "/proc/self/fd/\(file)"
    guard let archive = try? PacketArchive(path: path) else { return }
    for name in archive.files.sorted().prefix(8) {
        guard PacketPath.isInside(name) else { throw Finding("'\(name)' does not stay inside the packet") }
        if let content = try? archive.read(name, limit: 100_000), content.count > 100_000 {
            throw Finding("'\(name)' does not obey the limit")
        }
    }
}

/// The files of an archive: the text between two lines that begin with `@` and the name of a file.
private struct TextFiles: PacketFiles {
    var files: [String: [UInt8]] = [:]

    init(_ bytes: [UInt8]) {
        for part in bytes.split(separator: UInt8(ascii: "@")) {
            let name = String(decoding: part.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
            files[name == "manifest" ? "manifest.json" : name + ".geojson"] = Array(part.dropFirst(name.utf8.count))
        }
    }

    func contains(_ file: String) -> Bool { files[file] != nil }

    func read(_ file: String, limit: Int) throws(PacketFileError) -> [UInt8] {
        guard let content = files[file], content.count <= limit else { throw PacketFileError(message: "too long") }
        return content
    }
}

private func checkIMDF(_ bytes: [UInt8]) throws(Finding) {
    let files = TextFiles(bytes)
    let result = Result { () throws(IMDFError) in
        try IMDFImporter(language: "en").read(IMDFArchive(files, names: files.files.keys.sorted()), named: "fuzz")
    }
    switch result {
    case .success(let result):
        if "\(result.report)".isEmpty { throw Finding("a report does not say anything") }
        let document = VenueDocument.tree(result.venue, radioMapPath: nil).lines()
        let (venue, problems) = VenuePacketReader.parse(document)
        guard venue != nil, !problems.contains(where: { $0.severity == .error }) else {
            throw Finding("an imported venue does not satisfy the rules of a packet: \(problems)")
        }
    case .failure(let error):
        guard !error.problems.isEmpty, error.problems.allSatisfy({ !$0.message.isEmpty && !$0.path.isEmpty }) else {
            throw Finding("\(error) does not state its place")
        }
    }
}
