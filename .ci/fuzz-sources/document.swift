// Treats any bytes as a file of geofences, of settings or of a route: decoding must not trap, the same bytes must give the
// same result, and an error must describe its problem.
import IndoorVocabulary
import LocalizationSession
import VenuePackets

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDocument(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    // Dictionaries have an order that differs between two equal results, so the descriptions of values are not compared.
    check("geofences", geofences(bytes), geofences(bytes))
    check("settings", settings(bytes), settings(bytes))
    check("route", route(bytes), route(bytes))
    return 0
}

/// The number of entries of a document, or its error.
private enum Outcome: Equatable {
    case entries(Int)
    case problem(String)
}

private func check(_ format: String, _ first: Outcome, _ second: Outcome) {
    guard first == second else { fatalError("\(format): \(first) differs from a second result \(second)") }
    if case .problem(let text) = first, text.isEmpty { fatalError("\(format): an error does not describe its problem") }
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
        return .entries(file.entries.count)
    } catch {
        return .problem("\(error)")
    }
}

private func route(_ bytes: [UInt8]) -> Outcome {
    do throws(RouteDocumentError) {
        let document = try RouteDocument(bytes)
        return .entries(document.legs.count)
    } catch {
        return .problem("\(error)")
    }
}
