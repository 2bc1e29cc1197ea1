// Treats the bytes behind the first one, which selects the format, as a document: decoding must not trap, the same bytes
// must give the same result, an error must describe its problem, and an accepted document that the package also writes
// must read back equal.
import BeaconScanning
import IndoorPositioning
import IndoorVocabulary
import LocalizationSession
import TextFormats
@testable import VenueExchange
@testable import VenuePackets

func fuzzDocument(_ input: [UInt8]) throws(Finding) {
    guard let first = input.first else { return }
    let bytes = Array(input.dropFirst())
    // Dictionaries have an order that differs between two equal results, so the descriptions of values are not compared.
    switch (first &- UInt8(ascii: "0")) & 15 {
    case 0: try check("geofences", bytes, geofences)
    case 1: try check("settings", bytes, settings)
    case 2: try check("route", bytes, route)
    case 3: try check("catalogue", bytes, catalogue)
    case 4: try check("memory", bytes, memory)
    case 5: try check("rooms", bytes, rooms)
    case 6: try check("training", bytes, training)
    case 8: try check("picture", bytes, picture)
    default: try check("fingerprint", bytes, fingerprint)
    }
}

/// The number of entries of a document, or its error.
private enum Outcome: Equatable {
    case entries(Int)
    case problem(String)
}

private func check(
    _ format: String, _ bytes: [UInt8], _ decode: ([UInt8]) throws(Finding) -> Outcome
) throws(Finding) {
    let (first, second) = (try decode(bytes), try decode(bytes))
    switch (first, second) {
    case (.problem(let text), .problem(let other)):
        // The first problem of a dictionary depends on its order.
        if text.isEmpty || other.isEmpty { throw Finding("\(format): an error does not describe its problem") }
    case _ where first != second: throw Finding("\(format): \(first) differs from a second result \(second)")
    default: break
    }
}

/// Checks that what a decoder returned reads back equal.
private func checkEqual<Value: Equatable>(
    _ value: Value, _ format: String, again: () throws -> Value
) throws(Finding) {
    guard let second = try? again(), second == value else {
        throw Finding("\(format): \(value) does not read back equal")
    }
}

private func geofences(_ bytes: [UInt8]) throws(Finding) -> Outcome {
    do throws(GeofenceFileError) {
        return .entries(try GeofenceFile.geofences(of: bytes, named: "fuzz").count)
    } catch {
        guard error.problems.allSatisfy({ !$0.path.isEmpty && !$0.message.isEmpty }) else {
            throw Finding("\(error) does not state its place")
        }
        return error.problems.isEmpty ? .problem("") : .problem(error.description)
    }
}

private func settings(_ bytes: [UInt8]) -> Outcome {
    do {
        let file = try SettingsFile(bytes, name: "fuzz", source: .file)
        // The next step checks each value, and uses the valid ones.
        var stack = SettingsStack()
        _ = stack.load(file.entries, from: .file)
        stack.apply()
        return .entries(file.entries.count)
    } catch {
        return .problem("\(error)")
    }
}

private func route(_ bytes: [UInt8]) throws(Finding) -> Outcome {
    switch Result(catching: { () throws(RouteDocumentError) in try RouteDocument(bytes) }) {
    case .success(let document):
        try checkEqual(document, "route") { try RouteDocument(document.bytes) }
        return .entries(document.legs.count)
    case .failure(let error): return .problem("\(error)")
    }
}

private func catalogue(_ bytes: [UInt8]) throws(Finding) -> Outcome {
    var parser = VenueParser()
    guard let tree = try? JSONTree(bytes) else { return .problem("not JSON") }
    guard let content = parser.catalogue(tree) else {
        return .problem(parser.problems.map(\.description).joined())
    }
    let entries = Array(content.entries.values)
    try checkEqual(content.entries, "catalogue") {
        var parser = VenueParser()
        return parser.catalogue(CatalogueDocument.tree(entries))?.entries ?? [:]
    }
    return .entries(entries.count)
}

private func memory(_ bytes: [UInt8]) throws(Finding) -> Outcome {
    switch Result(catching: { () throws(StoredMemoryError) in try SessionMemoryStore.decode(bytes) }) {
    case .success((let memory, let time)):
        _ = time.age(at: MachineTime(seconds: 1.8e9, boot: time.boot, uptime: 1e6))
        try checkEqual(memory, "memory") { try SessionMemory(memory.document) }
        for place in memory.stay?.places ?? [] {
            guard place.point.x.isFinite, place.point.y.isFinite, place.varianceX >= 0, place.varianceY >= 0 else {
                throw Finding("\(place) does not have finite numbers")
            }
        }
        return .entries(memory.stay?.places.count ?? 0)
    case .failure(let error): return .problem(error.message)
    }
}

private func rooms(_ bytes: [UInt8]) throws(Finding) -> Outcome {
    switch Result(catching: { () throws(PacketFileError) in try RoomTrainingFile.set(of: bytes) }) {
    case .success(let set):
        try checkWritten(set, "rooms")
        return .entries(set.rooms.count)
    case .failure(let error): return .problem(error.message)
    }
}

private func training(_ bytes: [UInt8]) throws(Finding) -> Outcome {
    let result = Result { () throws(TrainingFileError) in
        _ = try RoomTrainingImport.tellsRooms(bytes, named: "fuzz")
        return try RoomTrainingImport.read(bytes, named: "fuzz", room: "room", uuid: BeaconUUID(high: 1, low: 2))
    }
    switch result {
    case .success(let set):
        try checkWritten(set, "training")
        return .entries(set.rooms.count)
    case .failure(let error): return .problem("\(error)")
    }
}

private func checkWritten(_ set: RoomTrainingSet, _ format: String) throws(Finding) {
    try checkEqual(set, format) { try RoomTrainingFile.set(of: Array(RoomTrainingFile.document(of: set).utf8)) }
}

private func picture(_ bytes: [UInt8]) throws(Finding) -> Outcome {
    guard let size = PictureSize(of: bytes) else { return .problem("not a picture") }
    guard size.width > 0, size.height > 0 else { throw Finding("a picture of \(size)") }
    return .entries(size.width)
}

private func fingerprint(_ bytes: [UInt8]) throws(Finding) -> Outcome {
    let result = Result { () throws(TrainingFileError) in try FingerprintDocument(bytes, named: "fuzz") }
    switch result {
    case .success(let document):
        try checkEqual(document, "fingerprint") { try FingerprintDocument(document.bytes, named: "fuzz") }
        return .entries(document.moments.count)
    case .failure(let error): return .problem("\(error)")
    }
}
