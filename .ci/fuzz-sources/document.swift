// Treats the bytes behind the first one, which selects the format, as a document: decoding must not trap, the same bytes
// must give the same result, an error must describe its problem, and an accepted document that the package also writes
// must read back equal.
import BeaconScanning
import IndoorPositioning
import IndoorVocabulary
import LocalizationSession
@testable import VenuePackets

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDocument(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard let first = input.first else { return 0 }
    let bytes = Array(input.dropFirst())
    // Dictionaries have an order that differs between two equal results, so the descriptions of values are not compared.
    switch (first &- UInt8(ascii: "0")) & 15 {
    case 0: check("geofences", bytes, geofences)
    case 1: check("settings", bytes, settings)
    case 2: check("route", bytes, route)
    case 3: check("catalogue", bytes, catalogue)
    case 4: check("memory", bytes, memory)
    case 5: check("rooms", bytes, rooms)
    case 6: check("training", bytes, training)
    case 8: check("picture", bytes, picture)
    default: check("fingerprint", bytes, fingerprint)
    }
    return 0
}

/// The number of entries of a document, or its error.
private enum Outcome: Equatable {
    case entries(Int)
    case problem(String)
}

private func check(_ format: String, _ bytes: [UInt8], _ decode: ([UInt8]) -> Outcome) {
    let (first, second) = (decode(bytes), decode(bytes))
    switch (first, second) {
    case (.problem(let text), .problem(let other)):
        // The first problem of a dictionary depends on its order.
        if text.isEmpty || other.isEmpty { fatalError("\(format): an error does not describe its problem") }
    case _ where first != second: fatalError("\(format): \(first) differs from a second result \(second)")
    default: break
    }
}

/// Checks that what a decoder returned reads back equal.
private func checkEqual<Value: Equatable>(_ value: Value, _ format: String, again: () throws -> Value) {
    guard let second = try? again(), second == value else { fatalError("\(format): \(value) does not read back equal") }
}

private func geofences(_ bytes: [UInt8]) -> Outcome {
    do throws(GeofenceFileError) {
        return .entries(try GeofenceFile.geofences(of: bytes, named: "fuzz").count)
    } catch {
        guard error.problems.allSatisfy({ !$0.path.isEmpty && !$0.message.isEmpty }) else {
            fatalError("\(error) does not state its place")
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

private func route(_ bytes: [UInt8]) -> Outcome {
    do throws(RouteDocumentError) {
        let document = try RouteDocument(bytes)
        checkEqual(document, "route") { try RouteDocument(document.bytes) }
        return .entries(document.legs.count)
    } catch {
        return .problem("\(error)")
    }
}

private func catalogue(_ bytes: [UInt8]) -> Outcome {
    var parser = VenueParser()
    guard let tree = try? JSONTree(bytes) else { return .problem("not JSON") }
    guard let content = parser.catalogue(tree) else {
        return .problem(parser.problems.map(\.description).joined())
    }
    let entries = Array(content.entries.values)
    checkEqual(content.entries, "catalogue") {
        var parser = VenueParser()
        return parser.catalogue(CatalogueDocument.tree(entries))?.entries ?? [:]
    }
    return .entries(entries.count)
}

private func memory(_ bytes: [UInt8]) -> Outcome {
    do {
        let (memory, time) = try SessionMemoryStore.decode(bytes)
        _ = time.age(at: MachineTime(seconds: 1.8e9, boot: time.boot, uptime: 1e6))
        checkEqual(memory, "memory") { try SessionMemory(memory.document) }
        for place in memory.stay?.places ?? [] {
            guard place.point.x.isFinite, place.point.y.isFinite, place.varianceX >= 0, place.varianceY >= 0 else {
                fatalError("\(place) does not have finite numbers")
            }
        }
        return .entries(memory.stay?.places.count ?? 0)
    } catch {
        return .problem(error.message)
    }
}

private func rooms(_ bytes: [UInt8]) -> Outcome {
    do {
        let set = try RoomTrainingFile.set(of: bytes)
        checkEqual(set, "rooms") { try RoomTrainingFile.set(of: Array(RoomTrainingFile.document(of: set).utf8)) }
        return .entries(set.rooms.count)
    } catch {
        return .problem(error.message)
    }
}

private func training(_ bytes: [UInt8]) -> Outcome {
    do {
        _ = try RoomTrainingImport.tellsRooms(bytes, named: "fuzz")
        let set = try RoomTrainingImport.read(bytes, named: "fuzz", room: "room", uuid: BeaconUUID(high: 1, low: 2))
        checkEqual(set, "training") { try RoomTrainingFile.set(of: Array(RoomTrainingFile.document(of: set).utf8)) }
        return .entries(set.rooms.count)
    } catch {
        return .problem("\(error)")
    }
}

private func picture(_ bytes: [UInt8]) -> Outcome {
    guard let size = PictureSize(of: bytes) else { return .problem("not a picture") }
    guard size.width > 0, size.height > 0 else { fatalError("a picture of \(size)") }
    return .entries(size.width)
}

private func fingerprint(_ bytes: [UInt8]) -> Outcome {
    do {
        let document = try FingerprintDocument(bytes, named: "fuzz")
        checkEqual(document, "fingerprint") { try FingerprintDocument(document.bytes, named: "fuzz") }
        return .entries(document.moments.count)
    } catch {
        return .problem("\(error)")
    }
}
