// Treats the bytes behind the first one, which selects the format, as a venue.json or as a radio map: decoding must not
// trap, a problem must state its place, and an accepted document must read back equal.
import IndoorPositioning
import IndoorVocabulary
import VenueModel
@testable import VenuePackets

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzVenue(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard let first = input.first else { return 0 }
    let bytes = Array(input.dropFirst())
    if first & 1 == 0 { checkVenue(bytes) } else { checkRadioMap(bytes) }
    return 0
}

private func checkVenue(_ bytes: [UInt8]) {
    let (venue, problems) = VenuePacketReader.parse(bytes)
    guard problems.allSatisfy({ !$0.path.isEmpty && !$0.message.isEmpty && !$0.description.isEmpty }) else {
        fatalError("\(problems) does not state a place")
    }
    guard let venue, !problems.contains(where: { $0.severity == .error }) else { return }
    let again = VenuePacketReader.parse(VenueDocument.tree(venue, radioMapPath: nil).lines())
    guard again.venue == venue else { fatalError("\(venue) does not read back equal: \(again)") }
    // The checks before a venue is used; they bound the time and the memory of all later steps.
    if let problem = ModelSize.problem(of: venue) ?? ModelSize.problem(of: venue.forTags) {
        if problem.message.isEmpty { fatalError("a problem does not describe itself") }
        return
    }
    _ = VenuePacketReader.unreachedPlaces(of: venue)
    for map in venue.maps { _ = try? map.geoTransform() }
}

private func checkRadioMap(_ bytes: [UInt8]) {
    do {
        let radioMap = try RadioMapFile.read(bytes, named: "fuzz.json")
        guard let written = try? RadioMapFile.bytes(of: radioMap, named: "fuzz.json"),
            let again = try? RadioMapFile.read(written, named: "fuzz.json"), again == radioMap
        else { fatalError("\(radioMap) does not read back equal") }
    } catch {
        if error.path.isEmpty || error.message.isEmpty { fatalError("\(error) does not state its place") }
    }
}
