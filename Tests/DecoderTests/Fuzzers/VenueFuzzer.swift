// Treats the bytes behind the first one, which selects the format, as a venue.json or as a radio map: decoding must not
// trap, a problem must state its place, and an accepted document must read back equal.
import IndoorPositioning
import IndoorVocabulary
import VenueModel
@testable import VenuePackets

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
