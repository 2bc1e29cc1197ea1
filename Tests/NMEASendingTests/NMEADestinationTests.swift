import NMEASending
import XCTest

/// The addresses of destinations.
final class NMEADestinationTests: XCTestCase {
    func testEveryKindOfAddressIsRead() throws {
        let known: [String: NMEADestination] = [
            "udp://127.0.0.1:5000": .udp(host: "127.0.0.1", port: 5000), "udp://[::1]:1": .udp(host: "::1", port: 1),
            "tcp://roof:65535": .tcp(host: "roof", port: 65535),
            "tcp-listen://0.0.0.0:0": .tcpListener(host: "0.0.0.0", port: 0),
            "unix-listen:///run/nmea.sock": .unixListener(path: "/run/nmea.sock"),
            "walk.nmea": .file(path: "walk.nmea"), "/dev/ttyS0": .file(path: "/dev/ttyS0"),
        ]
        for (text, destination) in known {
            XCTAssertEqual(try NMEADestination(text), destination, text)
            XCTAssertEqual(destination.description, text)
        }
    }

    func testAnInvalidAddressIsRefusedWithTheKindsOfAddresses() {
        for text in [
            "", "udp://", "udp://host", "udp://host:0", "udp://host:65536", "udp://host:+5", "udp://:5000",
            "udp://::1:5000", "udp://a b:5000", "udp://host:5000/", "tcp://host:", "http://host:80", "UDP://host:1",
            "unix-listen://", "unix-listen://" + String(repeating: "x", count: 108), "tcp://host:１",
        ] {
            XCTAssertThrowsError(try NMEADestination(text), text) { error in
                XCTAssertEqual(error as? NMEAError, .invalidAddress(text))
                XCTAssertTrue("\(error)".contains("udp://HOST:PORT"), "\(error)")
            }
        }
    }
}
