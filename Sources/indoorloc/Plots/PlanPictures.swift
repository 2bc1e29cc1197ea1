import IndoorLocalization
import LocalizationFigures
import VenuePackets

/// The images of a packet's maps, for figures.
struct PlanPictures: Sendable {
    /// The maximum size of an image in bytes, so that a figure stays a file that can be sent.
    private static let limit = 4_000_000

    /// The images by the number of their map.
    let byMap: [MapID: PlanPicture]

    /// Reads the images. Maps without an image, or with one that can't be read or is too large, have none; the latter are
    /// reported.
    init(_ packet: VenuePacket) {
        let files = PlanFiles(packet)
        var pictures: [MapID: PlanPicture] = [:]
        for map in packet.venue.maps {
            do throws(VenuePacketError) {
                guard let image = try files.image(of: map) else { continue }
                guard image.bytes.count <= Self.limit else {
                    StandardError.line(
                        PrintableText.line(
                            "\(map.name): the image of the plan has more than \(Self.limit / 1_000_000) MB, and is not in the "
                                + "figure"), .notice)
                    continue
                }
                pictures[map.id] = PlanPicture(image.bytes, mediaType: image.mediaType)
            } catch { StandardError.line("\(error)", .warning) }
        }
        byMap = pictures
    }
}
