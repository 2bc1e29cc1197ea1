/// The decoders of external bytes that are tested with mutated input.
///
/// The tests of this target pass the first inputs of each fuzzer and deterministic mutations of them to it. `.ci/fuzz`
/// compiles this file and the folder Fuzzers for libFuzzer, and takes the names of the fuzzers from the cases.
enum Fuzzer: String, CaseIterable {
    case text
    case advertisement
    case event
    case capture
    case foreign
    case recordingline
    case venue
    case document
    case archive
    case osm
    case companion
    case gateway
    case snapshot
    case sharing
    case bus
    case request

    /// Passes an input to the decoder.
    ///
    /// - Throws: `Finding` if the decoder, or what it returned, breaks a property.
    func run(_ input: [UInt8]) throws(Finding) {
        switch self {
        case .text: try fuzzText(input)
        case .advertisement: try fuzzAdvertisement(input)
        case .event: try fuzzEvent(input)
        case .capture: try fuzzCapture(input)
        case .foreign: try fuzzForeign(input)
        case .recordingline: try fuzzRecordingLine(input)
        case .venue: try fuzzVenue(input)
        case .document: try fuzzDocument(input)
        case .archive: try fuzzArchive(input)
        case .osm: try fuzzOSM(input)
        case .companion: try fuzzCompanion(input)
        case .gateway: try fuzzGateway(input)
        case .snapshot: try fuzzSnapshot(input)
        case .sharing: try fuzzSharing(input)
        case .bus: try fuzzBus(input)
        case .request: try fuzzRequest(input)
        }
    }
}

/// A property that an input breaks.
struct Finding: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
