//! PCI addresses, which order GPUs as `CUDA_DEVICE_ORDER=PCI_BUS_ID` does.

use std::fmt;
use std::str::FromStr;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PciAddress {
    pub domain: u32,
    pub bus: u8,
    pub device: u8,
    pub function: u8,
}

/// As the kernel writes it: `0000:3b:00.0`.
impl fmt::Display for PciAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PciAddress { domain, bus, device, function } = self;
        write!(f, "{domain:04x}:{bus:02x}:{device:02x}.{function}")
    }
}

/// Takes NVIDIA's way of writing (`00000000:3B:00.0`) too.
impl FromStr for PciAddress {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (place, function) = text.rsplit_once('.').ok_or(())?;
        let mut parts = place.splitn(3, ':');
        let (Some(domain), Some(bus), Some(device)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(());
        };
        Ok(PciAddress {
            domain: u32::from_str_radix(domain, 16).map_err(|_| ())?,
            bus: u8::from_str_radix(bus, 16).map_err(|_| ())?,
            device: u8::from_str_radix(device, 16).map_err(|_| ())?,
            function: u8::from_str_radix(function, 16).map_err(|_| ())?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::PciAddress;

    fn read(text: &str) -> Option<String> {
        text.parse::<PciAddress>().ok().map(|address| address.to_string())
    }

    #[test]
    fn both_ways_of_writing_are_one_address() {
        assert_eq!(read("00000000:3B:00.0").as_deref(), Some("0000:3b:00.0"));
        assert_eq!(read("0000:3b:00.0").as_deref(), Some("0000:3b:00.0"));
        assert_eq!(read("10000:01:00.1").as_deref(), Some("10000:01:00.1"));
        for wrong in ["", "3b:00.0", "0000:3b:00", "0000:1ff:00.0", "a:b:c:d.0"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn order_is_by_number_not_by_letters() {
        let address = |text: &str| text.parse::<PciAddress>().unwrap();
        assert!(address("0000:9a:00.0") > address("00000000:3B:00.0"));
        assert!(address("0001:01:00.0") > address("0000:ff:00.0"));
    }
}
