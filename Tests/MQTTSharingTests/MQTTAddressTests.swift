import MQTTSharing
import XCTest

final class MQTTAddressTests: XCTestCase {
    func testAllFormsOfAddressesAreParsed() throws {
        let plain = try MQTTAddress("mqtt://broker.example.org/hall")
        XCTAssertEqual(plain.broker, MQTTBroker(host: "broker.example.org"))
        XCTAssertEqual(plain.broker.port, 1883)
        XCTAssertEqual(plain.room, "hall")
        let full = try MQTTAddress("mqtts://cart%407@[fe80::1]:8884/hall%204")
        XCTAssertEqual(full.broker.host, "fe80::1")
        XCTAssertEqual(full.broker.port, 8884)
        XCTAssertEqual(full.broker.security, MQTTSecurity())
        XCTAssertEqual(full.broker.credentials?.user, "cart@7")
        XCTAssertEqual(full.room, "hall 4")
        XCTAssertEqual(try MQTTAddress("mqtts://h/r").broker.port, 8883)
    }

    func testTheAddressOfABrokerHasNoRoom() throws {
        XCTAssertEqual(try MQTTBroker(address: "mqtt://localhost"), MQTTBroker(host: "localhost"))
        let full = try MQTTBroker(address: "mqtts://cart%407@[fe80::1]:8884/")
        XCTAssertEqual(full.host, "fe80::1")
        XCTAssertEqual(full.port, 8884)
        XCTAssertEqual(full.credentials?.user, "cart@7")
        XCTAssertNotNil(full.security)
        for text in ["", "localhost", "mqtt://h/hall", "mqtt://cart:secret@h", "mqtt://h:0", "mqtt://%2@h"] {
            XCTAssertThrowsError(try MQTTBroker(address: text), text) { error in
                guard case MQTTSharingError.badAddress = error else { return XCTFail("\(text): \(error)") }
                XCTAssertFalse("\(error)".contains("secret"), "\(error)")
            }
        }
    }

    func testInvalidAddressesAreRefused() {
        for text in [
            "", "hall", "http://h/r", "mqtt://h", "mqtt://h/", "mqtt:///r", "mqtt://h/a/b", "mqtt://h:0/r",
            "mqtt://h:65536/r",
            "mqtt://h:x/r", "mqtt://h/%2", "mqtt://h/%-1", "mqtt://h/%FF", "mqtt://h/%2F", "mqtt://h/+", "mqtt://h/%23",
            "mqtt://fe80::1/r",
        ] {
            XCTAssertThrowsError(try MQTTAddress(text), text) { error in
                guard case MQTTSharingError.badAddress = error else { return XCTFail("\(text): \(error)") }
            }
        }
    }

    func testAPasswordInAnAddressIsRefusedAndNotRepeated() {
        for secret in ["s3cret", "s3:cret", "s3/cret", "s3@cret", "@s3cret:/", "s3//cret", "%s3cret"] {
            for text in [
                "mqtt://cart:\(secret)@h/r", "mqtt://cart:\(secret)@h", "mqtt://:\(secret)@h:1883/r",
                "cart:\(secret)@h/r", "mqtt://cart:\(secret)@h/%2", "mqtt://h/?password=\(secret)",
                "mqtt://h/r?password=\(secret)",
                "tcp://cart:\(secret)@h", "mqtt://h:1883/#\(secret)",
            ] {
                XCTAssertThrowsError(try MQTTAddress(text), text) { error in
                    XCTAssertFalse("\(error)".contains("s3"), "\(error)")
                    XCTAssertFalse("\(error)".contains("cret"), "\(error)")
                }
            }
        }
    }
}
